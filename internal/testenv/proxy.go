package testenv

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy is a network between clients and a server, which fails when a test says so.
type Proxy struct {
	// Replies forwards the server's data to one client until it returns, which ends the connection. Set it before
	// Start. Nil forwards everything.
	Replies func(client io.Writer, server io.Reader)

	target string
	ln     net.Listener
	pumps  sync.WaitGroup
	muted  atomic.Bool

	mu       sync.Mutex
	links    map[*link]bool
	accepted int
	down     bool
}

// link is a connection from a client through a proxy to the server.
type link struct {
	client, server net.Conn
	muted          *atomic.Bool
}

// Write sends a reply to the client, or drops it while the proxy is muted.
func (l *link) Write(b []byte) (int, error) {
	if l.muted.Load() {
		return len(b), nil
	}
	return l.client.Write(b)
}

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// NewProxy starts a proxy to an address.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	p := &Proxy{}
	p.Start(t, to)
	return p
}

// Start starts the proxy to an address. It ends with the test.
func (p *Proxy) Start(t testing.TB, to string) {
	t.Helper()
	p.target, p.links = to, map[*link]bool{}
	p.ln = Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	if p.Replies == nil {
		p.Replies = func(client io.Writer, server io.Reader) { _, _ = io.Copy(client, server) }
	}
	p.pumps.Go(p.serve)
	t.Cleanup(func() {
		_ = p.ln.Close()
		p.Down(true)
		p.pumps.Wait()
	})
}

// StartURL starts the proxy to the server of a URL and returns the URL through the proxy.
func (p *Proxy) StartURL(t testing.TB, raw string) *url.URL {
	t.Helper()
	u := Must(url.Parse(raw))(t)
	p.Start(t, u.Host)
	u.Host = p.Addr()
	return u
}

// Addr returns the address for clients.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// Accepted returns the number of connections that were forwarded so far.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Mute starts or stops dropping replies, as of a server that hangs after it has executed a command.
func (p *Proxy) Mute(on bool) { p.muted.Store(on) }

// Cut closes every connection; new ones are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Down closes every connection and, until it is called with false, new ones too.
func (p *Proxy) Down(yes bool) {
	p.mu.Lock()
	p.down = yes
	p.mu.Unlock()
	if yes {
		p.Cut()
	}
}

// Inject sends bytes to every client, as if they came from the server.
func (p *Proxy) Inject(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		_, _ = l.client.Write(b)
	}
}

func (p *Proxy) serve() {
	for {
		client, err := p.ln.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.open(&link{client: client, server: server, muted: &p.muted})
	}
}

// open forwards both directions of a connection until one of them ends, which ends the other.
func (p *Proxy) open(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		l.close()
		return
	}
	p.accepted++
	p.links[l] = true
	p.pumps.Go(func() {
		_, _ = io.Copy(l.server, l.client)
		p.closeLink(l)
	})
	p.pumps.Go(func() {
		p.Replies(l, l.server)
		p.closeLink(l)
	})
}

func (p *Proxy) closeLink(l *link) {
	l.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}
