import { runTask, type Task } from './tasks.ts'

process.on('message', (task) => void runTask(task as Task).then((result) => process.send?.(result)))
