import * as v from 'valibot'
import { AccountNumber, BankName, whyNoAccount } from '../bank/bank-account.ts'
import { MinorSchema, ZERO } from '../money.ts'
import { fromItem } from '../table/attributes.ts'
import { textField, URL_LENGTH } from '../text-field.ts'
import { BankSchema } from './client.ts'

const text = textField(255)

export const ReturnUrl = v.pipe(
  v.string(),
  URL_LENGTH,
  v.check(isHttpsUrl, 'must be an https URL without user info'),
)

/** The fields that an operator may set (design section 7). Null clears an optional field. */
export const ClientFields = v.strictObject({
  name: text,
  enabled: v.boolean(),
  settlement_floor_minor: v.pipe(MinorSchema, v.minValue(ZERO, 'must be >= 0')),
  bank: v.nullable(
    v.pipe(
      v.strictObject({
        bank_name: BankName,
        bank_account_no: AccountNumber,
        bank_account_name: text,
      }),
      v.forward(
        v.check(
          (bank) => whyNoAccount(bank) === undefined,
          ({ input }) => whyNoAccount(input) ?? '',
        ),
        ['bank_account_no'],
      ),
      v.transform((bank) => fromItem(bank)),
      v.omit(BankSchema, ['since', 'isChange']),
    ),
  ),
  return_url: v.nullable(ReturnUrl),
  rate_limit_per_second: v.nullable(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(10_000, 'must be at most 10000'),
    ),
  ),
  payout_hold: v.nullable(text),
})

function isHttpsUrl(value: string) {
  // The parser accepts spaces, backslashes and missing slashes. The provider refuses every payment
  // with such a URL.
  const url = /^https:\/\/[^\s\\]+$/.test(value) ? URL.parse(value) : null
  return url?.username === '' && url.password === ''
}
