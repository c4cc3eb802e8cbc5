/** Each call of the provider that money waits for, as the log names it (shared/provider/logged-provider.ts). */
export const PROVIDER_OPERATIONS = [
  'create_request',
  'get_request',
  'get_payment',
  'cancel_request',
  'list_transactions',
] as const
