"""A QUIC server of aioquic's: sends as many bytes as it is asked for."""

import asyncio

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent, StreamDataReceived


class Server(QuicConnectionProtocol):
    """One connection."""

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answers what has come as a whole."""
        if isinstance(event, StreamDataReceived) and event.end_stream:
            size = int(event.data)
            self._quic.send_stream_data(event.stream_id, bytes(size), end_stream=True)
            self.transmit()


async def main() -> None:
    """Serves until it is ended."""
    configuration = QuicConfiguration(
        is_client=False, alpn_protocols=["size"], congestion_control_algorithm="cubic"
    )
    configuration.load_cert_chain("cert.pem", "key.pem")
    await serve("::", 4433, configuration=configuration, create_protocol=Server)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
