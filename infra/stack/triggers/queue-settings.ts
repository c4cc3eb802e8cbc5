/** How every queue of the gateway behaves, on AWS and in the local gateway. */

/**
 * Receives of one message before it is set aside. Only a worker that breaks off counts: failed deliveries are recorded
 * in the table and sent again as new messages.
 */
export const MAX_RECEIVES = 5

/** A batch hidden for less could be handed to a second worker while Lambda still retries the first. */
export const VISIBILITY_PER_TIMEOUT = 6
