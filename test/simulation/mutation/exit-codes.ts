/** How `first-problem.ts` says that the simulation has found something; a script that cannot even load ends with 1. */
export const PROBLEM_FOUND = 3
