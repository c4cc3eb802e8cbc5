const POSITION = 'the release before made it; this one moves it where it is, and makes none'

/** Attributes that releases have written and these flows of this one do not, with the reason why nobody misses them. */
export const GONE: Readonly<Record<string, string>> = {
  'AUDIT after.delivery_id: S': 'of a test event: its record stands under its delivery, and names the endpoint',
  'PAYMENT provider_attempts[].paymentRequestId: S': "of the attempt that made the payment: it is the payment's own",
  'SYNC position of before pk: S': POSITION,
  'SYNC position of before position: S': POSITION,
  'SYNC position of before sk: S': POSITION,
  'SYNC position of before open_since: S': POSITION,
}
