/**
 * Words that events and payments repeat, by number of the dictionary: the rarest first, because
 * deflate refers to near words in fewer bits. Stored texts name their dictionary, so a published
 * dictionary never changes. Better words are a further dictionary, at the end.
 */
export const DEFLATED_WORDS: readonly (readonly string[])[] = [
  [
    '"},"description":"","metadata":{"","email":"@gmail.com","phone":"+628"},"',
    '000201010212266ID.CO.XENDIT.WWW0118936009ID.DANA.WWWID.CO.SHOPEE.WWW',
    '0303UMI51440014ID.CO.QRIS.WWW0215ID10200303UMI520453033605802ID59',
    '6013JAKARTA PUSAT610562146304',
    '","payment_destination":"https://","failure_reason":"',
    'type":"refund","amount_minor":,"taken_back_minor":{"event":"payment.reversed',
    '{"event":"payment.expired{"event":"payment.failed',
    '","timestamp":"2026-11-02T03:00:00.000Z","data":{"id":"","client_id":"',
    '","external_reference":"order-INV-2026","method":"ewallet',
    '","method":"virtual_account","channel_code":"BCA","method":"qris',
    '","notional_minor":000,"xendit_fee_minor":000,"hexolus_markup_minor":00,"client_net_minor":',
    ',"fee_status":"actual"',
    ',"fee_status":"estimated","currency":"IDR","status":"expired","failed","succeeded',
    '","payment_destination":"","customer":{"name":"',
    '","created_at":"2026-0Z","paid_at":"2026-Z"}}',
    '{"event":"payment.succeeded","event_id":"',
    '","paymentDestination":"https://","expiresAt":"2026-","description":"","metadata":"{\\"',
    '","paymentDestination":"00020101021226","customer":{"name":"","email":"","phone":"+628',
    '","attempt":1,"providerAttempts":[{"number":1,"startedAt":"2026-',
    'Z"}],"expiresAt":"2026-Z","paymentRequestId":"{"provider":"',
  ],
]

/**
 * The dictionary of new texts. A release that adds one does not write with it yet: during a canary,
 * and after a rollback, the release before it reads the same rows.
 */
export const WRITTEN_WITH = 0
