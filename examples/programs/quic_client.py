"""A client of quic_server.py: asks for so many bytes, and says how long they took."""

import asyncio
import ssl
import sys
import time

from aioquic.asyncio import connect
from aioquic.quic.configuration import QuicConfiguration


async def main(size: int) -> None:
    """Fetches them from the host ``receiver``."""
    configuration = QuicConfiguration(alpn_protocols=["size"], verify_mode=ssl.CERT_NONE)
    configuration.max_data = configuration.max_stream_data = (
        16_000_000  # no limit but the network's
    )
    began = time.monotonic()
    async with connect("receiver", 4433, configuration=configuration) as client:
        reader, writer = await client.create_stream()
        writer.write(str(size).encode())
        writer.write_eof()
        got = len(await reader.read())
        took = time.monotonic() - began
        print(f"{got} bytes in {took:.3f} s: {8e-6 * got / took:.1f} Mbit/s")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
