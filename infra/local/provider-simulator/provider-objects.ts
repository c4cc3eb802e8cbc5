/** The objects of the provider's API and callbacks, with the provider's field names. */

type RequestStatus = 'REQUIRES_ACTION' | 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'CANCELED' | 'EXPIRED'

export type PaymentRequest = {
  readonly payment_request_id: string
  readonly business_id: string
  readonly reference_id: string
  readonly type: 'PAY'
  readonly country: 'ID'
  readonly currency: 'IDR'
  readonly request_amount: number
  readonly capture_method: 'AUTOMATIC'
  readonly channel_code: string
  readonly channel_properties: Readonly<Record<string, string>>
  readonly actions: readonly Action[]
  readonly status: RequestStatus
  readonly latest_payment_id?: string
  readonly failure_code?: string
  readonly description?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly created: string
  readonly updated: string
}

export type Action = {
  readonly type: 'PRESENT_TO_CUSTOMER' | 'REDIRECT_CUSTOMER'
  readonly descriptor: 'VIRTUAL_ACCOUNT_NUMBER' | 'QR_STRING' | 'WEB_URL' | 'DEEPLINK_URL'
  readonly value: string
}

type RequestFields = Omit<
  PaymentRequest,
  'channel_properties' | 'actions' | 'status' | 'latest_payment_id' | 'failure_code' | 'description'
>

export type Payment = RequestFields & {
  readonly payment_id: string
  readonly captures?: readonly Capture[]
  readonly status: 'SUCCEEDED' | 'FAILED'
  readonly payment_details: Readonly<Record<string, string>>
  readonly failure_code?: string
}

type Capture = {
  readonly capture_id: string
  readonly capture_amount: number
  readonly capture_timestamp: string
}

/** A row of `/transactions`: PAYMENT for a capture, other types by control calls. */
export type Transaction = {
  readonly id: string
  readonly product_id: string
  readonly type: string
  readonly status: string
  readonly channel_category: string
  readonly channel_code: string | null
  readonly reference_id: string
  readonly account_identifier: string | null
  readonly currency: string
  readonly amount: number
  readonly net_amount: number
  readonly net_amount_currency: string
  readonly cashflow: 'MONEY_IN' | 'MONEY_OUT'
  readonly settlement_status: string | null
  readonly estimated_settlement_time: string | null
  readonly business_id: string
  readonly created: string
  readonly updated: string
  readonly fee: TransactionFee
  readonly product_data: {
    readonly capture_id: string | null
    readonly payment_request_id: string
    readonly payment_link_id: null
    readonly reusable_payment_link_id: null
  } | null
}

export type TransactionFee = {
  readonly xendit_fee: number
  readonly value_added_tax: number
  readonly xendit_withholding_tax: number
  readonly third_party_withholding_tax: number
  readonly status: string
}

export const BUSINESS_ID = '66f0c4d2a8b1e95d7c3f2a10'

/** The request may still be paid, cancelled, failed or expired. */
export function isOpen({ status }: PaymentRequest) {
  return status === 'REQUIRES_ACTION' || status === 'PENDING'
}
