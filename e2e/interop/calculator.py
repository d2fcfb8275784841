# A server by EMQX's SDK, at a broker on this machine. Arguments: its port, the server's name, its client id.
import sys

from mcp.server.fastmcp import FastMCP
from mcp.shared.mqtt import MqttOptions, MqttTransportBase

# The SDK takes a property that mosquitto omits, because it has its default, for a missing ability.
MqttTransportBase.assert_property = lambda *_: None

port, name, client_id = sys.argv[1:]
options = MqttOptions(host="127.0.0.1", port=int(port), username="maker", password="secret")
server = FastMCP(
    name, log_level="DEBUG", mqtt_server_description="Adds.", mqtt_client_id=client_id, mqtt_options=options
)


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@server.resource("greeting://{name}")
def get_greeting(name: str) -> str:
    """Get a personalized greeting"""
    return f"Hello, {name}!"


print("starting", flush=True)
server.run(transport="mqtt")
