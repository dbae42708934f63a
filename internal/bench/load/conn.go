package load

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// bufferSize holds the head and most bodies of a response in one read.
const bufferSize = 16 << 10

// conn is one keep-alive connection of one goroutine. It is not safe for concurrent use. The client of net/http would
// start two goroutines for each connection.
type conn struct {
	dial func(context.Context) (net.Conn, error)

	deadline time.Time // for all requests: one deadline per measurement is cheaper than one per request

	net     net.Conn
	in      *bufio.Reader
	release func() bool // ends the watch of the context
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

// ask sends a request and reads the response to its end. After an error the connection must not be used again: a late
// response could be taken for that of the next request.
func (c *conn) ask(request []byte) (answer, error) {
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
