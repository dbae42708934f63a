package load

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

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
