// The code in the sandbox: the gateway's own sources, and stand-ins for its listeners.
export { resetNats as reset } from "./nats.js";
export { Command, SimulatedGateway } from "./simulated-gateway.js";
