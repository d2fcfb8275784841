/**
 * Whether devices do not speak at the moment, in the time zone of the process.
 *
 * @param hours of each day, without the end: "22:00-07:00"; undefined: none
 */
export function areQuiet(hours: string | undefined, now = new Date()): boolean {
	const [from = 0, to = 0] = (hours ?? "00:00-00:00").split("-").map(minutesOf);
	const minutes = 60 * now.getHours() + now.getMinutes();
	return from <= to ? from <= minutes && minutes < to : minutes >= from || minutes < to;
}

function minutesOf(time: string): number {
	const [hours = 0, minutes = 0] = time.split(":").map(Number);
	return 60 * hours + minutes;
}
