import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Xsbug, type XsbugMachine } from "./xsbug.js";

async function login(test: TestContext): Promise<{ socket: Socket; machine: XsbugMachine; heard: () => string }> {
	const xsbug = await Xsbug.listen();
	test.after(() => xsbug.close());
	const socket = connect(xsbug.port, "127.0.0.1");
	let heard = "";
	socket.on("data", (bytes) => {
		heard += bytes;
	});
	const machines = once(xsbug, "machine");
	say(socket, '<login name="xs-mcp" value="XS 17.7.0"/>');
	const [machine] = (await machines) as [XsbugMachine];
	return { socket, machine, heard: () => heard };
}

function say(socket: Socket, message: string): void {
	socket.write(`\r\n<xsbug>${message}</xsbug>\r\n`);
}

describe("a machine that is debugged", () => {
	it("is started once it has introduced itself", async (t) => {
		const { socket, machine, heard } = await login(t);
		assert.deepEqual([machine.name, machine.engine], ["xs-mcp", "XS 17.7.0"]);
		while (!heard().includes("<go/>")) {
			await once(socket, "data");
		}
		assert.match(heard(), /^\r\n<set-all-breakpoints><\/set-all-breakpoints>\r\n\r\n<go\/>\r\n$/);
	});

	it("is heard line by line, however it traces", async (t) => {
		const { socket, machine } = await login(t);
		const lines: string[] = [];
		machine.on("line", (line) => lines.push(line));
		say(socket, "<log>state </log>");
		say(socket, "<log>idle&#10;&#10;state con</log>");
		say(socket, "<log>necting&#10;no end</log>");
		socket.end();
		await once(machine, "closed");
		assert.deepEqual(lines, ["state idle", "", "state connecting", "no end"]);
	});

	it("goes on when it has stopped", async (t) => {
		const { socket, machine, heard } = await login(t);
		const stopped = once(machine, "line");
		say(socket, "<break># Break: debugger!\n</break>");
		assert.deepEqual(await stopped, ["# Break: debugger!"]);
		while (heard().split("<go/>").length < 3) {
			await once(socket, "data");
		}
	});

	it("that sends invalid data is disconnected, and the next one is accepted", async (t) => {
		const xsbug = await Xsbug.listen();
		t.after(() => xsbug.close());
		const stranger = connect(xsbug.port, "127.0.0.1");
		stranger.write("GET / HTTP/1.1\r\n\r\n</html>");
		await once(stranger, "close");
		const socket = connect(xsbug.port, "127.0.0.1");
		t.after(() => socket.destroy());
		const machines = once(xsbug, "machine");
		say(socket, '<login name="later" value="XS"/>');
		assert.equal(((await machines) as [XsbugMachine])[0].name, "later");
	});
});
