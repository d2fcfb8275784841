/** The hours of each day in which devices do not speak: "22:00-07:00". The end is not part of them. */
export class QuietHours {
	/** Minutes since midnight. */
	readonly #from: number;
	readonly #to: number;
	readonly #now: () => Date;

	/**
	 * @param hours undefined: none
	 * @param now the clock, in the time zone of the process
	 */
	constructor(hours: string | undefined, now: () => Date = () => new Date()) {
		const [from = 0, to = 0] = (hours ?? "00:00-00:00").split("-").map(minutesOf);
		this.#from = from;
		this.#to = to;
		this.#now = now;
	}

	get areNow(): boolean {
		const now = this.#now();
		const minutes = 60 * now.getHours() + now.getMinutes();
		const [from, to] = [this.#from, this.#to];
		return from <= to ? from <= minutes && minutes < to : minutes >= from || minutes < to;
	}
}

function minutesOf(time: string): number {
	const [hours = 0, minutes = 0] = time.split(":").map(Number);
	return 60 * hours + minutes;
}
