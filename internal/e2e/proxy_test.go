package e2e

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"comanda/internal/testenv"
)

// proxy is a network between a server and the broker that can fail while both keep running.
type proxy struct {
	target string
	door   net.Listener
	pumps  sync.WaitGroup

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

// newProxy returns a proxy and the broker's address through it.
func newProxy(t testing.TB, address string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	door, err := net.Listen("tcp", testenv.FreeAddr(t))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: u.Host, door: door, conns: map[net.Conn]bool{}}
	u.Host = door.Addr().String()
	p.pumps.Go(p.serve)
	t.Cleanup(func() {
		_ = door.Close()
		p.cut()
		p.pumps.Wait()
	})
	return p, u.String()
}

func (p *proxy) serve() {
	for {
		server, err := p.door.Accept()
		if err != nil {
			return
		}
		broker, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = server.Close()
			continue
		}
		p.mu.Lock()
		if p.down {
			_ = server.Close()
			_ = broker.Close()
		} else {
			p.conns[server], p.conns[broker] = true, true
			p.pumps.Go(func() { p.pump(server, broker) })
			p.pumps.Go(func() { p.pump(broker, server) })
		}
		p.mu.Unlock()
	}
}

// pump copies one direction until either end closes, and then closes both.
func (p *proxy) pump(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
}

// cut closes all connections and refuses new ones.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		_ = c.Close()
	}
}

// mend accepts connections again.
func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}
