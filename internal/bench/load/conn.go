package load

import (
	"context"
	"net"
	"sync"
	"time"
)

// conn is one keep-alive connection for one goroutine; interrupt may be called from another.
type conn struct {
	dial     func(context.Context) (net.Conn, error)
	deadline time.Time // for all requests: one deadline per measurement is cheaper than one per request

	mu    sync.Mutex // guards net and ended
	net   net.Conn
	ended bool
	in    *reader
}

// open connects or reconnects. After interrupt it fails with context.Canceled.
func (c *conn) open(ctx context.Context) error {
	c.close()
	n, err := c.dial(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		_ = n.Close()
		return context.Canceled
	}
	c.net, c.in = n, newReader(n)
	return n.SetDeadline(c.deadline)
}

// ask sends a request and reads the response to its end.
func (c *conn) ask(request []byte) (Answer, error) {
	if c.net == nil {
		return Answer{}, net.ErrClosed
	}
	if _, err := c.net.Write(request); err != nil {
		return Answer{}, err
	}
	return c.in.next()
}

// setDeadline replaces the deadline when the measurement begins.
func (c *conn) setDeadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	if c.net != nil && !c.ended {
		_ = c.net.SetDeadline(t)
	}
}

func (c *conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.net != nil {
		_ = c.net.Close()
		c.net = nil
	}
}

// interrupt aborts the current request and prevents new ones.
func (c *conn) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.net != nil {
		_ = c.net.SetDeadline(time.Unix(1, 0))
	}
}
