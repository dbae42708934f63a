package redisdb

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"comanda/internal/clock"
)

// wire is a connection that speaks RESP2 with little work per command: an inspection sends two commands for each of
// millions of keys, and the regular client takes three microseconds for each. It is not safe for concurrent use.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte // buffered commands for exchange or send

	behind chan<- []byte // input of the writing goroutine, see writeBehind
}

// Limits of replies, so that another service on the port cannot exhaust the memory.
const (
	maxBulk  = 512 << 20 // limit of the protocol
	maxArray = 1 << 24
	wireBuf  = 1 << 16
)

// dialWire connects and authenticates with the user, password and database of the options.
func dialWire(ctx context.Context, o rueidis.ClientOption, addr string) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	conn, err := dialOption(ctx, o, addr)
	if err != nil {
		return nil, err
	}
	w := &wire{conn: conn, in: bufio.NewReaderSize(conn, wireBuf)}
	for _, words := range authCommands(o) {
		w.add(words...)
		err := w.exchange(ctx, func() error {
			v, err := w.read()
			return errors.Join(err, v.err())
		})
		if err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

func dialOption(ctx context.Context, o rueidis.ClientOption, addr string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout}
	switch {
	case o.DialCtxFn != nil:
		return o.DialCtxFn(ctx, addr, dialer, o.TLSConfig)
	case o.TLSConfig != nil:
		return (&tls.Dialer{NetDialer: dialer, Config: o.TLSConfig}).DialContext(ctx, "tcp", addr)
	}
	return dialer.DialContext(ctx, "tcp", addr)
}

func authCommands(o rueidis.ClientOption) [][]string {
	var all [][]string
	switch {
	case o.Username != "":
		all = append(all, []string{"AUTH", o.Username, o.Password})
	case o.Password != "":
		all = append(all, []string{"AUTH", o.Password})
	}
	if o.SelectDB != 0 {
		all = append(all, []string{"SELECT", strconv.Itoa(o.SelectDB)})
	}
	return all
}

func (w *wire) close() { _ = w.conn.Close() }

// add appends a command to the buffer.
func (w *wire) add(words ...string) {
	w.out = append(w.out, '*')
	w.out = strconv.AppendInt(w.out, int64(len(words)), 10)
	w.out = append(w.out, '\r', '\n')
	for _, word := range words {
		w.out = append(w.out, '$')
		w.out = strconv.AppendInt(w.out, int64(len(word)), 10)
		w.out = append(w.out, '\r', '\n')
		w.out = append(w.out, word...)
		w.out = append(w.out, '\r', '\n')
	}
}

// exchange sends the buffered commands while read reads the replies. Both run concurrently, because the embedded store
// stops reading until its replies are read. After a failure the connection is unusable.
func (w *wire) exchange(ctx context.Context, read func() error) error {
	deadline, ok := ctx.Deadline()
	if limit := clock.In(inspectTimeout); !ok || limit.Before(deadline) {
		deadline = limit
	}
	stop := context.AfterFunc(ctx, func() { _ = w.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := w.conn.SetDeadline(deadline); err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() {
		_, err := w.conn.Write(w.out)
		written <- err
	}()
	err := read()
	if err != nil {
		w.close() // also ends the write
	}
	err = errors.Join(err, <-written)
	w.out = w.out[:0]
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// writeBehind makes send pass commands to a writing goroutine until stop is called. The end of ctx closes the
// connection.
func (w *wire) writeBehind(ctx context.Context) (stop func()) {
	line, done := make(chan []byte, 2), make(chan struct{})
	w.behind = line
	go func() {
		defer close(done)
		for b := range line {
			if _, err := w.conn.Write(b); err != nil {
				w.close() // the reader gets the error
			}
		}
	}()
	undo := context.AfterFunc(ctx, w.close)
	return func() {
		undo()
		w.close()
		close(line)
		<-done
	}
}

// send passes the buffered commands to the writing goroutine.
func (w *wire) send() {
	if len(w.out) > 0 {
		w.behind <- w.out
		w.out = nil
	}
}

// extend renews the deadline for the next replies.
func (w *wire) extend() { _ = w.conn.SetDeadline(clock.In(inspectTimeout)) }

// value is a RESP2 reply: a string, a number, an error, null, or an array.
type value struct {
	kind byte // type byte of the protocol: + - : $ *
	null bool
	text string
	n    int64
	list []value
}

// refusal is an error reply of the server.
type refusal string

func (r refusal) Error() string { return string(r) }

func (v value) err() error {
	if v.kind == '-' {
		return refusal(v.text)
	}
	return nil
}

var errProtocol = errors.New("the server does not speak the protocol")

// read reads one reply of any type.
func (w *wire) read() (value, error) {
	line, err := w.line()
	if err != nil {
		return value{}, err
	}
	v := value{kind: line[0]}
	switch v.kind {
	case '+', '-':
		v.text = word(line[1:])
		return v, nil
	case ':', '$', '*':
	default:
		return v, errProtocol
	}
	v.n, err = number(line[1:])
	if err != nil || v.kind == ':' {
		return v, err
	}
	if v.n < 0 {
		v.null = true
		return v, nil
	}
	if v.kind == '$' {
		v.text, err = w.bulk(v.n)
		return v, err
	}
	if v.n > maxArray {
		return v, errProtocol
	}
	v.list = make([]value, v.n)
	for i := range v.list {
		if v.list[i], err = w.read(); err != nil {
			return v, err
		}
	}
	return v, nil
}

// line returns the next line, which is valid until the next read.
func (w *wire) line() ([]byte, error) {
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, errProtocol
	}
	return line[:len(line)-2], nil
}

func (w *wire) bulk(n int64) (string, error) {
	if n > maxBulk {
		return "", errProtocol
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(w.in, b); err != nil {
		return "", err
	}
	return string(b[:n]), nil
}

func number(b []byte) (n int64, err error) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, errProtocol
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, errProtocol
		}
		n = 10*n + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, nil
}

// word avoids an allocation for the replies of TYPE.
func word(b []byte) string {
	switch string(b) {
	case "string":
		return "string"
	case "hash":
		return "hash"
	case "set":
		return "set"
	case "zset":
		return "zset"
	case "none":
		return "none"
	}
	return string(b)
}

// translateWire is translate for errors of a wire.
func translateWire(verb string, err error) error {
	var r refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return translate(verb, classifyReply(string(r)), err)
	case errors.Is(err, errProtocol):
		return fmt.Errorf("redisdb: %s: %w", verb, err)
	}
	return translate(verb, classify(err), err)
}
