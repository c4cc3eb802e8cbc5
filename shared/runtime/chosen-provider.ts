export { OTHER_CHANNELS } from '../provider/xendit/xendit-channels.ts'
/** Only this file names the adapter. */
export { xenditProvider as chosenProvider } from '../provider/xendit/xendit-provider.ts'
