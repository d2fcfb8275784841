// A gateway that a client starts as its child: devices over WebSocket, one client over standard input and output.

import { listenForWebSocket } from "../src/devices/websocket.js";
import { Gateway } from "../src/mcp/gateway.js";
import { serveOverStdio } from "../src/transports/stdio.js";
import { LOCAL } from "./gateway.js";

const gateway = await Gateway.open({ changeDelay: 20 }, console.error);
const devices = await listenForWebSocket(gateway.servers, { port: 0 });
console.error(`devices: ${devices.port}`);
const client = serveOverStdio(gateway, LOCAL, process.argv[2]);
await client.closed;
await gateway.close();
await devices.close();
console.error("closed");
