/** How the table's stream is handed to its readers, on AWS and in the simulation. */
export const STREAM_SETTINGS = {
  /**
   * A record that keeps failing holds up the ones behind it in its shard. The outbox row's own due work fans it out a few
   * minutes later, so the stream gives up soon.
   */
  retries: 5,
  recordAgeSeconds: 3_600,
  /** Batches of one shard that run side by side. Events of one payment stay in order, others need none. */
  batchesPerShard: 10,
} as const
