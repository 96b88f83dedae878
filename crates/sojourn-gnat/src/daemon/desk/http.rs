//! The little of HTTP/1.1 that those who collect metrics need: one request, one answer.

/// Whether the head of a request has come to its end.
pub(super) fn is_whole(request: &[u8]) -> bool {
    let ends_at = |end: &[u8]| request.windows(end.len()).any(|bytes| bytes == end);
    ends_at(b"\n\r\n") || ends_at(b"\n\n")
}

/// The answer to a whole request: `page` at `/metrics`.
pub(super) fn answer(request: &[u8], page: impl FnOnce() -> String) -> Vec<u8> {
    let line = request.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let words: Vec<_> = line.trim_ascii_end().split(|byte| *byte == b' ').collect();
    let [method, target, version] = words[..] else { return malformed() };
    if !version.starts_with(b"HTTP/1.") {
        return malformed();
    }
    if method != b"GET" {
        return plain("405 Method Not Allowed", "Allow: GET\r\n", "only GET is answered\n");
    }
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    match path {
        b"/metrics" => whole("200 OK", "text/plain; version=0.0.4; charset=utf-8", "", &page()),
        _ => plain("404 Not Found", "", "only /metrics is here\n"),
    }
}

/// The answer to a request of which the end does not come.
pub(super) fn too_long() -> Vec<u8> {
    plain("431 Request Header Fields Too Large", "", "a request has at most 4096 bytes\n")
}

fn malformed() -> Vec<u8> {
    plain("400 Bad Request", "", "no request of HTTP/1.1\n")
}

fn plain(status: &str, more: &str, text: &str) -> Vec<u8> {
    whole(status, "text/plain; charset=utf-8", more, text)
}

fn whole(status: &str, kind: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\
         Connection: close\r\n\r\n"
    );
    (head + body).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &[u8]) -> String {
        let answer = String::from_utf8(answer(request, || "page\n".to_owned())).unwrap();
        answer.split("\r\n").next().unwrap()["HTTP/1.1 ".len()..].to_owned()
    }

    #[test]
    fn one_page_is_answered() {
        let request = b"GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n";
        assert!(is_whole(request) && !is_whole(&request[..request.len() - 1]));
        assert!(is_whole(b"GET / HTTP/1.0\n\n"));
        let answer = String::from_utf8(answer(request, || "page\n".to_owned())).unwrap();
        assert_eq!(
            answer,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
             Content-Length: 5\r\nConnection: close\r\n\r\npage\n"
        );
    }

    #[test]
    fn all_else_is_refused() {
        assert_eq!(status(b"GET /metric HTTP/1.1\r\n\r\n"), "404 Not Found");
        assert_eq!(status(b"POST /metrics HTTP/1.1\r\n\r\n"), "405 Method Not Allowed");
        for none in
            [&b"\n\n"[..], b"GET /metrics\r\n\r\n", b"GET /metrics HTTP/2\n\n", b"\xff\0 \n\n"]
        {
            assert_eq!(status(none), "400 Bad Request", "{none:?}");
        }
        assert!(too_long().starts_with(b"HTTP/1.1 431 "));
    }
}
