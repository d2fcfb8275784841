import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { connect, startProgram } from "xs-mcp-gateway/testing/program";
import { until } from "../../host-test/support/testing.js";
import { Mosquitto, whyNoMosquitto } from "../mosquitto.js";
import { findPeer } from "./peers.js";
import { startPython, whyNoPackages } from "./python.js";

const { title, skip } = findPeer("EMQX_SDK");

const NAME = "demo/calculator";

describe(title, { skip: skip || whyNoMosquitto || whyNoPackages("mcp.server.mqtt") || false }, () => {
	it("its FastMCP server over MQTT: a tool and a resource, and back after it was killed", async (t) => {
		const broker = await Mosquitto.start(t);
		const flags = { brokerUrl: broker.url, brokerUsername: "maker", brokerPassword: "secret", mcpOverMqtt: true };
		const script = fileURLToPath(new URL("calculator.py", import.meta.url));
		const start = () =>
			startPython(t, [script, `${broker.port}`, NAME, "calc-1"], (output) => output.includes("starting"));
		const python = await start();
		const program = await startProgram(t, flags);
		const isOnline = () => program.gateway.servers.find(`mcp/${NAME}`)?.online === true;
		const comes = () =>
			until(isOnline, "it is online").catch((error) =>
				assert.fail(`${error.message}\n${program.log()}\n${python.output}`),
			);
		await comes();
		const client = await connect(t, program);
		const callAdd = async () => {
			const { tools } = await client.listTools();
			const name = tools.find((tool) => tool.name.endsWith("add"))?.name ?? "";
			return (await client.callTool({ name, arguments: { a: 1, b: 2 } })).structuredContent;
		};
		assert.deepEqual(await callAdd(), { result: 3 });
		const { resourceTemplates } = await client.listResourceTemplates();
		const uri = resourceTemplates.find(({ uriTemplate }) => uriTemplate.includes("greeting"))?.uriTemplate ?? "";
		const { contents } = await client.readResource({ uri: uri.replace(/\{[^}]*name\}/, "Ada") });
		assert.deepEqual(
			contents.map((each) => "text" in each && each.text),
			["Hello, Ada!"],
		);
		await python.stop("SIGKILL");
		await until(() => !isOnline(), "it is offline by its will");
		await start();
		await comes();
		assert.deepEqual(await callAdd(), { result: 3 });
		t.diagnostic(program.gateway.servers.find(`mcp/${NAME}`)?.connection?.revision ?? "");
	});
});
