// A process of tests: runs each test file whose URL it is sent, and ends after an empty one if nothing is left open.
import { test } from "node:test";
import { END_OF_FILE } from "./events.mjs";

// Coverage is that of this process alone: programs that tests start would write megabytes each.
delete process.env.NODE_V8_COVERAGE;

// The program that runs the tests was stopped.
process.on("disconnect", () => process.exit(1));

process.on("message", async (url) => {
	if (url === "") {
		process.channel.unref();
		return;
	}
	try {
		await import(url);
	} catch (error) {
		test("is loaded", () => Promise.reject(error));
	}
	// Tests run in the order in which they are registered, so this one tells that those of the file have ended.
	await test(END_OF_FILE, async () => {
		const tasks = [];
		process.emit("endOfFile", (task) => tasks.push(task));
		await Promise.all(tasks);
	});
});
