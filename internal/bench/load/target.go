package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ErrNotLoopback reports a server that is not on this machine (L1).
var ErrNotLoopback = errors.New("load: only an http address of this machine is measured, such as http://127.0.0.1:8080")

// dialTimeout is ample on one machine: only a full accept queue delays a connection there.
const dialTimeout = 2 * time.Second

// Target is a server on this machine. Its only field is unexported, so every Target has passed ParseTarget or is zero.
type Target struct{ addr string }

// ParseTarget parses a base URL. It returns ErrNotLoopback for anything but plain HTTP on a loopback address. A path is
// refused, because requests have their own.
func ParseTarget(base string) (Target, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return Target{}, fmt.Errorf("%w; not %q", ErrNotLoopback, base)
	}
	host, port := u.Hostname(), u.Port()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return Target{}, fmt.Errorf("%w; not %q", ErrNotLoopback, base)
	}
	if port == "" {
		port = "80"
	}
	return Target{net.JoinHostPort(host, port)}, nil
}

// URL returns the base URL.
func (t Target) URL() string { return "http://" + t.addr }

// dial connects, and verifies the address of the connection, because localhost is only a name.
func (t Target) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return nil, err
	}
	if a, ok := c.RemoteAddr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		_ = c.Close()
		return nil, ErrNotLoopback
	}
	return c, nil
}

// Client returns an HTTP client for single requests before a measurement. It connects only to the target, whatever the
// URL, and follows no redirects. One connection is enough for requests that follow each other.
func (t Target) Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return t.dial(ctx) },
			MaxConnsPerHost: 1,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Request returns the bytes of a request. Headers are alternating names and values; a body is JSON. Values are written
// as they are, so they must not contain line ends. The caller may use the bytes for many requests.
func (t Target) Request(method, path, body string, headers ...string) []byte {
	var b strings.Builder
	b.WriteString(method + " " + path + " HTTP/1.1\r\nHost: " + t.addr + "\r\n")
	for i := 0; i+1 < len(headers); i += 2 {
		b.WriteString(headers[i] + ": " + headers[i+1] + "\r\n")
	}
	if body != "" {
		b.WriteString("Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}

// bufferSize holds the head and most bodies of a response in one read.
const bufferSize = 16 << 10

// conn is one keep-alive connection of one goroutine. It is not safe for concurrent use. The client of net/http would
// start two goroutines for each connection.
type conn struct {
	dial func(context.Context) (net.Conn, error)

	deadline time.Time // for all requests: one deadline per measurement is cheaper than one per request

	net     net.Conn
	in      *bufio.Reader
	release func() bool // stops the function that aborts I/O when the context ends
}

// answer is the relevant part of a response.
type answer struct {
	status int
	bytes  int64 // length of the body
	close  bool  // the server closes the connection
}

// open connects or reconnects. The end of ctx aborts what is being read or written.
func (c *conn) open(ctx context.Context) error {
	c.close()
	n, err := c.dial(ctx)
	if err != nil {
		return err
	}
	if err := n.SetDeadline(c.deadline); err != nil {
		_ = n.Close() // the other error says more
		return err
	}
	c.net, c.in = n, bufio.NewReaderSize(n, bufferSize)
	// A deadline in the past wakes a read that is blocked. It is cheaper than a goroutine that watches the context.
	c.release = context.AfterFunc(ctx, func() { _ = n.SetDeadline(time.Unix(1, 0)) }) // it may be closed already
	return nil
}

func (c *conn) close() {
	if c.net != nil {
		c.release()
		_ = c.net.Close() // nothing is lost: every response was read to its end
		c.net = nil
	}
}

// send sends a request and reads the response to its end. After an error the connection must not be used again: a late
// response could be taken for that of the next request.
func (c *conn) send(request []byte) (answer, error) {
	if c.net == nil {
		return answer{}, net.ErrClosed
	}
	if _, err := c.net.Write(request); err != nil {
		return answer{}, err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	return answer{res.StatusCode, n, res.Close}, err
}

// EventStream is an open stream of server-sent events.
type EventStream struct {
	conn net.Conn
	done chan struct{}
}

// Follow opens a stream and calls received for each event, with the time of its arrival. It returns once the server has
// accepted the stream. received is called by one goroutine, which Close ends.
func (t Target) Follow(ctx context.Context, request []byte, received func(at time.Time)) (*EventStream, error) {
	conn, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	s := &EventStream{conn, make(chan struct{})}
	in := bufio.NewReaderSize(conn, streamBuffer)
	if err := open(conn, in, request); err != nil {
		_ = conn.Close()
		return nil, err
	}
	go func() {
		defer close(s.done)
		for {
			// Chunks begin on lines of their own, so an event's line is never preceded by their size.
			line, err := in.ReadSlice('\n')
			if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // bufio returns it unwrapped
				return
			}
			if strings.HasPrefix(string(line[:min(len(line), len(eventLine))]), eventLine) {
				received(time.Now())
			}
		}
	}()
	return s, nil
}

const (
	eventLine    = "data:"
	streamBuffer = 4 << 10 // thousands of streams are open; longer lines are read in parts
)

// open sends the request of a stream and reads the head of the response.
func open(conn net.Conn, in *bufio.Reader, request []byte) error {
	_ = conn.SetDeadline(time.Now().Add(defaultTimeout))
	if _, err := conn.Write(request); err != nil {
		return err
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	// The body is read from the connection: only the beginnings of its lines matter.
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return fmt.Errorf("load: a stream was answered %d", res.StatusCode)
	}
	return conn.SetDeadline(time.Time{})
}

// Close ends the stream and waits for its goroutine.
func (s *EventStream) Close() {
	_ = s.conn.Close()
	<-s.done
}
