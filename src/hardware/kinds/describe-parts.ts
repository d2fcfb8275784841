import type { PartKind } from "./part-kind.js";

/** A part as a record of its members. It has all members that its kind names. */
type AnyPart = Readonly<Record<string, unknown>>;

/** Describes parts of a kind for the device's status, by their names. A part that cannot be read has an `error`. */
export const describeParts = (kind: PartKind, parts: Readonly<Record<string, object>>): object => {
	const described: Record<string, object> = {};
	for (const name in parts) {
		const part = parts[name] as AnyPart;
		try {
			described[name] = describePart(kind, part);
		} catch (error) {
			described[name] = { kind: part.kind, error: error instanceof Error ? error.message : String(error) };
		}
	}
	return described;
};

/**
 * Describes a part for the device's status. JSON omits members that are undefined.
 *
 * @throws Error if it cannot be read
 */
export const describePart = ({ status }: PartKind, part: object): object => {
	const members = part as AnyPart;
	// Read first: a sensor of several quantities knows them after its first sample.
	const reading = typeof members.read === "function" ? members.read() : undefined;
	const described: Record<string, unknown> = { title: members.title };
	for (let at = 0; at < status.length; at += 1) {
		const { name, type, from = name } = status[at] as PartKind["status"][number];
		const value = type === "reading" ? reading : members[from];
		described[name] =
			type === "color" && value !== undefined ? `#${(value as number).toString(16).padStart(6, "0")}` : value;
	}
	described.error = members.error;
	return described;
};
