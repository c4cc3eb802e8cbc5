/**
 * The name of the provider that this gateway has. Payments, suspense, jobs of the sync, quotas and pauses keep it from
 * their first row on, so that a second provider finds its own.
 */
export const UPSTREAM = 'xendit'
