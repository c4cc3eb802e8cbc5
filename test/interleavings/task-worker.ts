/**
 * One process of `npm run interleavings`: it runs each task that it is sent, and sends the result
 * back.
 */
import { runTask, type Task } from './tasks.ts'

process.on('message', (task) => void runTask(task as Task).then((result) => process.send?.(result)))
