/**
 * The name of this gateway's provider. Items of the provider have it, so that another provider can
 * be added.
 */
export const UPSTREAM = 'xendit'
