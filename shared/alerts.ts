/** The kind of an alert; it is part of the contract of the alert message. */
type AlertKind =
  | 'delivery.abandoned'
  | 'suspense.money'
  | 'suspense.finding'
  | 'audit.imbalance'
  | 'client.bank_changed'
  | 'client.owes'
  | 'settlement.unpaid'

export type Alert = {
  readonly kind: AlertKind
  readonly subject: string
  /** Names who is affected and which ids to check; no personal data, no secrets. */
  readonly message: string
}

export type Alerts = {
  publish(alert: Alert): Promise<void>
}
