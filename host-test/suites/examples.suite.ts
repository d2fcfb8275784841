import setLamp from "../../examples/set-lamp.js";
import type { Hardware } from "../../src/hardware/hardware.js";
import { Client } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { equal, suite } from "../harness.js";

export default suite("examples", {
	"set-lamp is listed and called"() {
		const board = new FakeBoard();
		const client = new Client<Hardware>({ context: board, tools: [setLamp] });
		equal(client.ask("tools/list").result.tools[0].inputSchema.required, ["on"]);
		const { result } = client.call("self.lamp.set", { on: true, color: "green", brightness: 50 });
		equal(JSON.parse(result.content[0].text), { on: true, rgb: [0, 128, 0] });
		equal(board.settings.get("lamp", "rgb"), "0,128,0");
	},
});
