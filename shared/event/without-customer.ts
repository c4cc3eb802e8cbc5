import { assertInvariant } from '../errors.ts'
import { memberText } from '../json.ts'

const CUSTOMER = '"customer":'

/**
 * An event's body without the customer in its `data`, every other byte unchanged; undefined when it has none. The
 * customer comes before the merchant's metadata, and quotes inside a string are escaped, so the first such key is the
 * customer.
 */
export const withoutCustomer = (body: string): string | undefined => {
  const data = memberText(body, 'data')
  const customer = data === undefined ? undefined : memberText(data, 'customer')
  if (customer === undefined) return undefined
  const member = `${CUSTOMER}${customer}`
  const erased = body.includes(`,${member}`) ? body.replace(`,${member}`, '') : body.replace(`${member},`, '')
  const left = memberText(erased, 'data')
  assertInvariant(
    left !== undefined && memberText(left, 'customer') === undefined,
    'the customer is still in the event',
  )
  return erased
}
