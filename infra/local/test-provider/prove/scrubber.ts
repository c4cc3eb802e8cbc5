/** The values of these fields are words of the provider's documents. */
const WORDS: ReadonlySet<string> = new Set([
  'account_type',
  'api_version',
  'capture_method',
  'cashflow',
  'channel_category',
  'channel_code',
  'country',
  'currency',
  'descriptor',
  'error_code',
  'event',
  'failure_code',
  'limit',
  'net_amount_currency',
  'reason',
  'settlement_status',
  'status',
  'statuses',
  'type',
  'types',
])
const WORD = /^[A-Za-z0-9_.]{1,64}$/

const PATH_WORD = /^(?:v\d|[a-z_]*)$/

/** Free fields of persons and merchants are left out. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'customer',
  'items',
  'metadata',
  'payment_details',
  'shipping_information',
])

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?$/

type Form = { readonly like: RegExp; readonly placeholder: (text: string, count: number) => string }

/** Each keeps what a parser may look at, such as a prefix or a length. */
const FORMS: readonly Form[] = [
  {
    like: /^[a-z]{2,5}[-_][0-9a-f]{8}-[0-9a-f-]{27}$/,
    placeholder: (text, count) => `${/^[a-z]+[-_]/.exec(text)?.[0]}${uuidOf(count)}`,
  },
  { like: /^[0-9a-f]{8}-[0-9a-f-]{27}$/, placeholder: (_, count) => uuidOf(count) },
  { like: /^[0-9a-f]{24}$/, placeholder: (_, count) => String(count).padStart(24, '0') },
  { like: /^\+62\d+$/, placeholder: (_, count) => `+6281${String(count).padStart(9, '0')}` },
  {
    like: /^\d{6,}$/,
    placeholder: (text, count) => String(count).padStart(text.length, '0').slice(-text.length),
  },
  { like: /^https?:\/\//, placeholder: (_, count) => `https://provider.example/${count}` },
]

/**
 * Replaces what belongs to an account or a person. Equal texts get equal placeholders, so answers
 * still fit their questions. A text of an unknown form is replaced too. Times, numbers and the
 * words of the provider's documents stay.
 */
export function scrubber() {
  const placeholders = new Map<string, string>()

  const scrubText = (name: string, text: string) => {
    if (text === '' || TIME.test(text) || (WORDS.has(name) && WORD.test(text))) return text
    const knownPlaceholder = placeholders.get(text)
    if (knownPlaceholder !== undefined) return knownPlaceholder
    const count = placeholders.size + 1
    const form = FORMS.find(({ like }) => like.test(text))
    const placeholder = form?.placeholder(text, count) ?? `text-${count}`
    placeholders.set(text, placeholder)
    return placeholder
  }

  const scrubJson = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return scrubText(name, value)
    if (Array.isArray(value)) return value.map((item) => scrubJson(item, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !LEFT_OUT.has(key))
        .map(([key, inner]) => [key, scrubJson(inner, key)]),
    )
  }

  /** Ids are in the path; the query may have references. */
  const scrubPath = (path: string) => {
    const url = new URL(path, 'https://provider.example')
    const parts = url.pathname
      .split('/')
      .map((part) => (PATH_WORD.test(part) ? part : scrubText('', part)))
    const query = [...url.searchParams].map(
      ([key, value]) => `${key}=${encodeURIComponent(scrubText(key, value))}`,
    )
    return parts.join('/') + (query.length > 0 ? `?${query.join('&')}` : '')
  }

  return { scrubJson, scrubPath }
}

function uuidOf(count: number) {
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
}
