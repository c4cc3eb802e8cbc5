export { OTHER_CHANNELS } from '../provider/xendit/xendit-channels.ts'
/** Makes the adapter of this gateway's provider. Only this file names the adapter. */
export { xenditProvider as chosenProvider } from '../provider/xendit/xendit-provider.ts'
