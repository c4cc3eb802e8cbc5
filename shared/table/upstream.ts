/** The name of this gateway's provider. Stored with what belongs to it, so that another can be added. */
export const UPSTREAM = 'xendit'
