import * as v from 'valibot'
import { EventSchema } from '../../shared/event/event.ts'
import { streamHandler } from '../../shared/runtime/stream-handler.ts'
import { fanOutEvent } from '../../shared/webhook/delivery/fan-out-event.ts'

/** New events of the table's stream become deliveries (spec 6). What the stream loses, check-due-work announces. */
export const handler = streamHandler(async (image, deps) => fanOutEvent(deps, v.parse(EventSchema, image)))
