/**
 * The name of this gateway's provider. Payments, suspense, sync jobs, quotas and pauses store it, so that a second
 * provider can be added.
 */
export const UPSTREAM = 'xendit'
