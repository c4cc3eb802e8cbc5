import { assertInvariant } from '../errors.ts'
import { memberText } from '../json.ts'

const CUSTOMER = '"customer":'

/**
 * An event's body without the customer in its `data`, every other byte as it was; undefined where there is none. The
 * customer stands before the merchant's metadata, and inside a string its quotes are escaped: the first such key is it.
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
