export { OTHER_CHANNELS } from '../provider/xendit/xendit-channels.ts'
/** Makes the adapter of this gateway's provider; only this file names it. `UPSTREAM` is its name in the table. */
export { xenditProvider as chosenProvider } from '../provider/xendit/xendit-provider.ts'
