// A process of tests: runs each test file whose URL it is sent, and ends after an empty one if nothing is left open.
import { test } from "node:test";
import { END_OF_FILE } from "./events.mjs";

/** Milliseconds that a process may take to end after its last test. */
const MAX_END_TIME = 120_000;

// The program that runs the tests was stopped.
process.on("disconnect", () => process.exit(1));

process.on("message", async (url) => {
	if (url === "") {
		process.channel.unref();
		setTimeout(sayWhatIsOpen, MAX_END_TIME).unref();
		return;
	}
	try {
		await import(url);
	} catch (error) {
		test("is loaded", () => Promise.reject(error));
	}
	// Tests run in the order of registration, so this one runs after those of the file.
	await test(END_OF_FILE, async () => {
		const tasks = [];
		process.emit("endOfFile", (task) => tasks.push(task));
		await Promise.all(tasks);
	});
});

/** Fails the run, and names the open handle, if a test left one: otherwise the process would never end. */
function sayWhatIsOpen() {
	console.error(`The tests left open: ${process.getActiveResourcesInfo().join(", ")}`);
	process.exit(1);
}
