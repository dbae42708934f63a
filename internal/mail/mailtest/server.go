// Package mailtest is an SMTP server for tests, which keeps what it is sent and says what it is told to.
package mailtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
)

// Server speaks as much of RFC 5321 as a client needs that neither encrypts nor logs in.
type Server struct {
	t testing.TB
	l net.Listener

	mu     sync.Mutex
	says   map[string]string // by verb, such as RCPT: instead of 250
	got    []*mail.Message
	raw    []string
	heard  chan struct{} // one for each message
	drop   bool          // the connection after a message, before saying that it was taken
	all    sync.WaitGroup
	active map[net.Conn]bool
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, l: l, says: map[string]string{}, heard: make(chan struct{}, 1000), active: map[net.Conn]bool{}}
	s.all.Go(s.accept)
	t.Cleanup(s.Close)
	return s
}

// URL is its address.
func (s *Server) URL() string { return "smtp://" + s.l.Addr().String() }

// Close ends it, and the connections that it has.
func (s *Server) Close() {
	_ = s.l.Close()
	s.mu.Lock()
	for c := range s.active {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
}

// Say has it answer a verb with a line, such as "550 5.1.1 no such user"; "" is consent again.
func (s *Server) Say(verb, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says[verb] = line
}

// Drop has it break the connection when it has a whole message, without a word.
func (s *Server) Drop(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop = on
}

// Heard tells of each message that has arrived, taken or not.
func (s *Server) Heard() <-chan struct{} { return s.heard }

// Messages are those that it has taken, parsed, and as they came.
func (s *Server) Messages() (parsed []*mail.Message, raw []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*mail.Message(nil), s.got...), append([]string(nil), s.raw...)
}

func (s *Server) accept() {
	for {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.active[c] = true
		s.mu.Unlock()
		s.all.Go(func() {
			s.serve(c)
			_ = c.Close()
			s.mu.Lock()
			delete(s.active, c)
			s.mu.Unlock()
		})
	}
}

func (s *Server) serve(c net.Conn) {
	in := bufio.NewReader(c)
	fmt.Fprintf(c, "220 test ESMTP\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		verb := strings.ToUpper(strings.Fields(line + " .")[0])
		said := s.answer(verb)
		switch {
		case said != "":
			fmt.Fprintf(c, "%s\r\n", said)
		case verb == "EHLO":
			fmt.Fprintf(c, "250-test\r\n250 8BITMIME\r\n")
		case verb == "QUIT":
			fmt.Fprintf(c, "221 bye\r\n")
			return
		case verb == "DATA":
			fmt.Fprintf(c, "354 go on\r\n")
			if !s.take(in) {
				return
			}
			fmt.Fprintf(c, "250 taken\r\n")
		default:
			fmt.Fprintf(c, "250 ok\r\n")
		}
	}
}

func (s *Server) answer(verb string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.says[verb]
}

// take reads a message up to its dot.
func (s *Server) take(in *bufio.Reader) bool {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
	m, err := mail.ReadMessage(strings.NewReader(b.String()))
	if err != nil {
		s.t.Errorf("a message that nobody can read: %v\n%s", err, b.String())
		return false
	}
	defer func() { s.heard <- struct{}{} }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drop {
		return false
	}
	s.got, s.raw = append(s.got, m), append(s.raw, b.String())
	return true
}

// Body is the whole body of a message.
func Body(t testing.TB, m *mail.Message) string {
	t.Helper()
	b, err := io.ReadAll(m.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
