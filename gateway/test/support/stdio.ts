// A gateway that a host starts as its child: devices over WebSocket, one host over standard input and output.

import { serveOverStdio } from "../../src/clients/stdio.js";
import { WebSocketDevices } from "../../src/devices/websocket.js";
import { Gateway } from "../../src/gateway.js";
import { DeviceHub } from "../../src/servers/device-hub.js";
import { LOCAL } from "./gateway.js";

const hub = new DeviceHub();
const gateway = await Gateway.open(hub, { changeDelay: 20 }, console.error);
const devices = new WebSocketDevices(hub, { port: 0 });
console.error(`devices: ${await devices.listen()}`);
const host = serveOverStdio(gateway, LOCAL, process.argv[2]);
await host.closed;
await gateway.close();
await devices.close();
console.error("closed");
