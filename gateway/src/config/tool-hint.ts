/**
 * Effect of a tool. "reads": it changes nothing. "sets": twice is the same as once, and nothing is lost.
 * "acts": it does something each time. "destroys": what it does cannot be undone by another call.
 */
export const TOOL_HINTS = ["reads", "sets", "acts", "destroys"] as const;

export type ToolHint = (typeof TOOL_HINTS)[number];
