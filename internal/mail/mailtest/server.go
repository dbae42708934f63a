// Package mailtest has an SMTP server for tests. It stores messages and replies as a test configures.
package mailtest

import (
	"bufio"
	"crypto/hmac"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/url"
	"strings"
	"sync"
	"testing"

	"comanda/internal/testenv"
)

// Server implements the part of RFC 5321 that a client without TLS needs, with optional CRAM-MD5 login.
type Server struct {
	t              testing.TB
	l              net.Listener
	user, password string // empty user: no login required

	mu       sync.Mutex
	replies  map[string]string // by verb, such as RCPT; other verbs get 250
	got      []*mail.Message
	raw      []string
	received chan struct{} // one for each message
	drop     bool          // break the connection after a message, before the reply
	hold     chan struct{} // delays replies until closed; nil for none
	all      sync.WaitGroup
	active   map[net.Conn]bool
}

// New starts a server that closes with the test.
func New(t testing.TB) *Server {
	t.Helper()
	return Start(t, "127.0.0.1:0", "", "")
}

// Start is New at an address. A non-empty user must log in with the password.
func Start(t testing.TB, addr, user, password string) *Server {
	t.Helper()
	l := testenv.Must(net.Listen("tcp", addr))(t)
	s := &Server{
		t: t, l: l, user: user, password: password, replies: map[string]string{}, received: make(chan struct{}, 1000),
		active: map[net.Conn]bool{},
	}
	s.all.Go(s.accept)
	t.Cleanup(s.Close)
	return s
}

// Addr returns host:port.
func (s *Server) Addr() string { return s.l.Addr().String() }

// URL returns the server's address for mailout.Config.
func (s *Server) URL() string {
	if s.user == "" {
		return "smtp://" + s.Addr()
	}
	u := url.URL{Scheme: "smtp", User: url.UserPassword(s.user, s.password), Host: s.Addr()}
	return u.String()
}

// Hold delays the replies to messages until release is called.
func (s *Server) Hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hold := make(chan struct{})
	s.hold = hold
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hold = nil
		close(hold)
	})
}

// Close stops the server and breaks its connections.
func (s *Server) Close() {
	_ = s.l.Close()
	s.mu.Lock()
	for c := range s.active {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
}

// Reply sets the reply to a verb, such as "550 5.1.1 no such user". An empty line restores the default.
func (s *Server) Reply(verb, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies[verb] = line
}

// Drop makes the server break the connection after each message, without a reply.
func (s *Server) Drop(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop = on
}

// Arrived receives a value for each message that arrives, accepted or not.
func (s *Server) Arrived() <-chan struct{} { return s.received }

// Messages returns the accepted messages, parsed and raw.
func (s *Server) Messages() (parsed []*mail.Message, raw []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*mail.Message(nil), s.got...), append([]string(nil), s.raw...)
}

// accept serves each connection in a goroutine until the listener is closed. Connections are recorded, so that Close
// can break those that wait for a client.
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

// serve answers commands one by one. A configured reply replaces the built-in one and ends the command: after a refused
// DATA no message is read.
func (s *Server) serve(c net.Conn) {
	in := bufio.NewReader(c)
	known := s.user == ""
	fmt.Fprintf(c, "220 test ESMTP\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		verb := strings.ToUpper(strings.Fields(line + " .")[0])
		reply := s.reply(verb)
		switch {
		case reply != "":
			fmt.Fprintf(c, "%s\r\n", reply)
		case verb == "EHLO":
			fmt.Fprintf(c, "250-test\r\n250-AUTH CRAM-MD5\r\n250 8BITMIME\r\n")
		case verb == "AUTH":
			if known = s.login(c, in); !known {
				fmt.Fprintf(c, "535 5.7.8 who are you\r\n")
				continue
			}
			fmt.Fprintf(c, "235 welcome\r\n")
		case verb == "MAIL" && !known:
			fmt.Fprintf(c, "530 5.7.0 log in first\r\n")
		case verb == "QUIT":
			fmt.Fprintf(c, "221 bye\r\n")
			return
		case verb == "DATA":
			fmt.Fprintf(c, "354 go on\r\n")
			if !s.readMessage(in) {
				return
			}
			fmt.Fprintf(c, "250 taken\r\n")
		default:
			fmt.Fprintf(c, "250 ok\r\n")
		}
	}
}

// login verifies a CRAM-MD5 response (RFC 2195).
func (s *Server) login(c net.Conn, in *bufio.Reader) bool {
	const challenge = "<1896.697170952@test>"
	fmt.Fprintf(c, "334 %s\r\n", base64.StdEncoding.EncodeToString([]byte(challenge)))
	line, _ := in.ReadString('\n') // an incomplete line fails the comparison
	response, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
	m := hmac.New(md5.New, []byte(s.password))
	m.Write([]byte(challenge))
	return string(response) == s.user+" "+hex.EncodeToString(m.Sum(nil))
}

// reply returns the configured reply to a verb, empty for none.
func (s *Server) reply(verb string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replies[verb]
}

// readMessage reads a message up to its final dot.
func (s *Server) readMessage(in *bufio.Reader) bool {
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
		s.t.Errorf("unreadable message: %v\n%s", err, b.String())
		return false
	}
	s.mu.Lock()
	drop, hold := s.drop, s.hold
	if !drop {
		s.got, s.raw = append(s.got, m), append(s.raw, b.String())
	}
	s.mu.Unlock()
	// Before the reply, so that a test can act while the client still waits for it.
	s.received <- struct{}{}
	if hold != nil {
		<-hold
	}
	return !drop
}

// Body returns the complete body of a message.
func Body(t testing.TB, m *mail.Message) string {
	t.Helper()
	b := testenv.Must(io.ReadAll(m.Body))(t)
	return string(b)
}
