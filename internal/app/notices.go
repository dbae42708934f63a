package app

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/notice"
	"comanda/internal/notice/noticepush"
	"comanda/internal/notice/noticesql"
	"comanda/internal/seq"
	"comanda/internal/telemetry"
	typed "comanda/internal/text" // package app has a function text
	"comanda/internal/visit"
	"comanda/internal/worker"
)

// noticeRetention is how long notices are kept. Guests' choices and subscriptions outlive every visit.
var noticeRetention = noticesql.Retention{
	Personal: 60 * 24 * time.Hour, Staff: 7 * 24 * time.Hour, Guests: 2 * 24 * time.Hour, Dead: keepDead,
}

// wireNotices creates the service of bells.
func (k *Core) wireNotices() {
	k.NoticeStore = noticesql.New(k.DB)
	k.Notices = &notice.Service{Store: k.NoticeStore, Now: k.DB.Now}
	k.pushKey = &pushKey{store: k.NoticeStore}
}

// noticeConsumer makes notices and wakes bells. A command consumes without bells: those of the servers poll.
func (k *Core) noticeConsumer() noticesql.Consumer {
	return noticesql.Consumer{Now: k.DB.Now, Changed: k.Notices.Changed}
}

// noticeBranches returns the branches in which an account works.
func (k *Core) noticeBranches(ctx context.Context, by authz.Actor) ([]int64, error) {
	if !by.AllBranches {
		return by.Branches, nil
	}
	all, err := k.Branches.Store.Branches(ctx)
	return seq.Map(all, func(b catalog.Branch) int64 { return b.ID }), err
}

// noticeGuests implements noticehttp.GuestFinder. Like orders, notices can be read for a while after the visit has ended.
type noticeGuests struct{ *visit.Guests }

// Reader implements noticehttp.GuestFinder.
func (g noticeGuests) Reader(ctx context.Context, token string) (notice.Reader, string, error) {
	guest, err := g.ResolveForRead(ctx, token)
	if err != nil {
		return notice.Reader{}, "", err
	}
	return notice.GuestReader(guest.VisitID, guest.TokenHash), guest.TokenHash, nil
}

// pushKey is the installation's key for Web Push. It is read when it is first needed and never changes.
type pushKey struct {
	store *noticesql.Store

	mu  sync.Mutex
	key *noticepush.Key
}

// get returns the key, which the first call of an installation creates.
func (p *pushKey) get(ctx context.Context) (noticepush.Key, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.key != nil {
		return *p.key, nil
	}
	stored, err := p.store.PushKey(ctx, noticepush.NewKey)
	if err != nil {
		return noticepush.Key{}, err
	}
	key, err := noticepush.ParseKey(stored)
	if err == nil {
		p.key = &key
	}
	return key, err
}

// public returns the public key.
func (p *pushKey) public(ctx context.Context) (string, error) {
	key, err := p.get(ctx)
	return key.Public(), err
}

// pushSubject returns how push services reach the operator: the public URL if it is https, else the sender of e-mails.
func (k *Core) pushSubject() string {
	c := k.house.Load().config
	if u, err := url.Parse(c.PublicURL); err == nil && u.Scheme == "https" {
		return strings.TrimSuffix(c.PublicURL, "/")
	}
	from, err := typed.ParseMailbox(c.MailFrom)
	if err != nil {
		return "mailto:no-reply@localhost.localdomain"
	}
	return "mailto:" + from.Address
}

// pushLoops deliver notices to browsers and export the queue.
func (k *Core) pushLoops(log *slog.Logger, reg prometheus.Registerer) []worker.Loop {
	f := telemetry.Metrics(reg)
	sender := &notice.PushSender{
		Store: k.NoticeStore, Now: k.DB.Now, Log: log,
		Transport: &noticepush.Client{
			HTTP: noticepush.NewHTTPClient(k.Config.PushLocal, nil), Key: k.pushKey.get, Subject: k.pushSubject, Now: k.DB.Now,
		},
		Result: f.Counting("push_total", "Deliveries to browsers by the result of an attempt.", "result", notice.Results()...),
	}
	gauges := backlogGauges{
		pending: f.Gauge("push_pending", "Notices waiting for their delivery to a browser."),
		age:     f.Gauge("push_oldest_age_seconds", "Time since the oldest waiting delivery became due."),
		dead:    f.Gauge("push_dead", "Deliveries to browsers that are dead letters."),
	}
	return []worker.Loop{
		{Name: "push", Run: sender.RunOnce, Every: time.Second, Timeout: 2 * time.Minute, MaxPause: 30 * time.Second},
		{
			Name: "push_watch", Every: 30 * time.Second, Timeout: 10 * time.Second,
			Run: func(ctx context.Context) error { return gauges.measure(k.NoticeStore.Backlog(ctx, k.DB.Now())) },
		},
	}
}
