/** What broken code costs: the area of a survivor says how bad it is. */
export const AREAS = ['money', 'tenancy', 'delivery', 'secrets'] as const
export type Area = (typeof AREAS)[number]

/** The first pattern that fits a path counts. */
const GUARDED: readonly (readonly [RegExp, Area | undefined])[] = [
  // What a table or a merchant sees of this code is data, which schemas and the API description
  // check.
  [
    /-schema\.ts$|\/channels\.ts$|\/manifest\.ts$|-functions\.ts$|\/function-spec\.ts$|\/table-access\.ts$/,
    undefined,
  ],
  [/^shared\/secrets\.ts$/, 'secrets'],
  [/^shared\/provider\/provider-secrets\.ts$/, 'secrets'],
  [/^shared\/webhook\/endpoint\/(safe-url|change-endpoint)\.ts$/, 'secrets'],
  [/^shared\/webhook\/send\/webhook-headers\.ts$/, 'secrets'],
  [/^shared\/client\/(authenticate|api-key-store)\.ts$/, 'secrets'],
  [/^shared\/runtime\/(origin-guard|env-credentials|aws\/kept-secrets)\.ts$/, 'secrets'],
  [/^shared\/(webhook|event)\//, 'delivery'],
  [/^shared\/runtime\/(worker-handlers|aws\/sent-messages)\.ts$/, 'delivery'],
  [/^shared\/(client|operator|inquiry)\/|^shared\/(page|ids)\.ts$/, 'tenancy'],
  [/^shared\/table\/(keys|list-items)\.ts$/, 'tenancy'],
  [/^shared\/runtime\/(api-handler|admin-handler|http-handler)\.ts$/, 'tenancy'],
  [/^functions\/(api|admin|callback|queue|schedule)\//, 'tenancy'],
  [
    /^shared\/(bank|channel|payment|posting|journal|ledger|settlement|payout|suspense|recount|verdict)\//,
    'money',
  ],
  [/^shared\/(sync|audit|books|due-work|provider|table)\//, 'money'],
  [/^shared\/(money|time|chunks)\.ts$|^shared\/runtime\/aws\/(dynamodb-|retrying-table)/, 'money'],
]

/** Undefined if the file's code is not broken on purpose. */
export function areaOf(path: string) {
  return GUARDED.find(([files]) => files.test(path))?.[1]
}
