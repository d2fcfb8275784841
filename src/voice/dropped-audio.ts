/** Counts audio that is dropped. The log has the first one, the tenth, the hundredth …, so that a flood does not fill it. */
export class DroppedAudio {
	private readonly log: (message: string) => void;
	private count = 0;
	private nextLogged = 1;

	constructor(log: (message: string) => void) {
		this.log = log;
	}

	add(reason: string): void {
		this.count += 1;
		if (this.count === this.nextLogged) {
			this.nextLogged *= 10;
			this.log(`audio dropped: ${reason}${this.count === 1 ? "" : ` (${this.count} so far)`}`);
		}
	}
}
