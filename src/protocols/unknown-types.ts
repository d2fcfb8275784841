/** Limit of remembered types. */
const MAX_TYPES = 16;

/** Characters of a type that are stored. */
const MAX_LENGTH = 32;

/** The unknown types of messages that have come: each is logged once. */
export class UnknownTypes {
	private readonly log: (message: string) => void;
	private readonly types = new Set<string>();

	constructor(log: (message: string) => void) {
		this.log = log;
	}

	/** Logs a message of an unknown type. */
	note(unknown: string): void {
		const type = unknown.slice(0, MAX_LENGTH);
		if (!this.types.has(type) && this.types.size < MAX_TYPES) {
			this.types.add(type);
			this.log(`message of unknown type ${JSON.stringify(type)}: dropped`);
		}
	}
}
