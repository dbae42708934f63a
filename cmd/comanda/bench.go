package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"comanda/internal/app"
	"comanda/internal/bench"
	"comanda/internal/clock"
	"comanda/internal/keyspace"
	"comanda/internal/sqldb"
)

func (c *cli) bench() *cobra.Command {
	var seconds float64
	var parts bool
	var budget string
	var conns []int
	var history, streams int
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure the server and the raw limits of this machine", Args: noArguments,
		Long: "Starts a separate server without rate limits and measures it over HTTP: orders, refusals, menus, carts,\n" +
			"checkouts, payments, reservations, memory. In the same run it measures the raw limits of the machine, among\n" +
			"them the floor: a bare program that keeps orders in the same database and does nothing else. By default it\n" +
			"works in a temporary folder, which it removes; with COMANDA_DATABASE_URL=postgres://... it creates a separate\n" +
			"database on that server, and drops it; with COMANDA_REDIS_URL it uses a separate namespace. With --history it\n" +
			"measures beside orders that have ended.",
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			duration := time.Duration(seconds * float64(time.Second))
			if err := cmp.Or(bench.ValidateHistory(history), bench.ValidateDuration(duration)); err != nil {
				return result{}, err
			}
			b := bench.Config{
				Duration: duration, Conns: conns, Streams: streams,
				OnlyParts: parts || budget != "",
			}
			var allowed *bench.PartLoad
			if budget != "" {
				var err error
				if allowed, err = bench.ReadBudget(budget); err != nil {
					return result{}, err
				}
			}
			r, err := runBench(cmd, config, b, history)
			if err != nil {
				return result{}, err
			}
			out := result{value: r, text: r.Text}
			if allowed != nil {
				if err := r.Parts.Exceeds(allowed); err != nil {
					out.found = true
					fmt.Fprintln(cmd.ErrOrStderr(), err)
				}
			}
			return out, nil
		}),
	}
	cmd.Flags().Float64Var(&seconds, "seconds", 5, "seconds of each measurement; a whole run takes about 60 times as long")
	cmd.Flags().IntSliceVar(&conns, "conns", []int{64, 128, 256, 512}, "numbers of concurrent connections")
	cmd.Flags().IntVar(&history, "history", 0,
		"orders in the database before the measurements, up to "+strconv.Itoa(bench.MaxHistory))
	cmd.Flags().IntVar(&streams, "streams", 0, "live streams to measure, up to "+strconv.Itoa(bench.MaxStreams))
	cmd.Flags().BoolVar(&parts, "parts", false, "measure only the parts of an order in the server, from its profiles")
	cmd.Flags().StringVar(&budget, "budget", "",
		"measure only the parts, and fail if one exceeds that in this file (the JSON of an earlier run) by more than a tenth")
	cmd.AddCommand(benchEcho(), benchFloor())
	return cmd
}

// runBench measures a server of its own in temporary stores, never the configured database.
func runBench(cmd *cobra.Command, config app.Config, b bench.Config, history int) (report bench.Report, err error) {
	ctx := cmd.Context()
	ground, err := newBenchGround(ctx, config)
	if err != nil {
		return report, err
	}
	defer ground.remove()
	tokens, withOptions, err := ground.seed(ctx)
	if err != nil {
		return report, err
	}
	if history > 0 {
		filled, err := bench.FillHistory(ctx, ground.database, history, true)
		if err != nil {
			return report, err
		}
		b.History = &filled
	}
	if b.OnlyParts {
		if config.DebugListen == "" {
			if ground.config.DebugListen, err = freeAddress(ctx); err != nil {
				return report, err
			}
		}
		b.Debug = "http://" + ground.config.DebugListen
	} else if b.Members, err = ground.members(ctx); err != nil {
		return report, err
	}
	server, err := startChild(ctx, ground.env(), ground.log(), "serve")
	if err != nil {
		return report, err
	}
	defer server.stop()
	if b.History != nil {
		b.History.Start = server.start.Seconds()
	}
	// The echo server is the limit of HTTP on this machine: the report compares the server with it.
	echo, err := startChild(ctx, nil, ground.log(), "bench", "echo")
	if err != nil {
		return report, err
	}
	defer echo.stop()
	// The floor is the limit of a program that keeps orders, on the same database.
	floor, err := startChild(ctx, []string{"COMANDA_DATABASE_URL=" + ground.database}, ground.log(), "bench", "floor")
	if err != nil {
		return report, err
	}
	defer floor.stop()
	b.Floor, b.FloorPID = floor.base, floor.pid()
	b.Target, b.PID, b.Tokens, b.OptionTokens, b.Echo = server.base, server.pid(), tokens, withOptions, echo.base
	b.VNPay, b.ServiceToken = ground.site, ground.token
	b.DatabaseURL, b.RedisURL = ground.database, config.RedisURL
	if b.Namespace, err = keyspace.ParseNamespace(ground.namespace); err != nil {
		return report, err
	}
	b.Progress = progress(cmd.ErrOrStderr())
	report, err = bench.Run(ctx, b)
	server.stop() // must precede the removal of its keys
	// The keys are cleared even after an interrupt; Clear has its own time limit.
	if cleared := bench.Clear(context.WithoutCancel(ctx), b); err == nil {
		err = cleared
	}
	return report, err
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress shows the progress of a long run, on a terminal only.
func progress(w io.Writer) func(step, steps int, name string) {
	if !isTerminal(w) {
		return nil
	}
	const width = 24
	return func(step, steps int, name string) {
		done := width * step / steps
		fmt.Fprintf(w, "\r\x1b[K[%-*s] %s", width, "########################"[:done], name)
		if step == steps {
			fmt.Fprintln(w)
		}
	}
}

// benchEcho runs the echo handler in its own process, like the server.
func benchEcho() *cobra.Command {
	return &cobra.Command{
		Use: "echo", Short: "Serve the bare handler that bench compares with", Hidden: true, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := &http.Server{Addr: os.Getenv("COMANDA_LISTEN"), Handler: bench.EchoHandler(), ReadHeaderTimeout: 5 * time.Second}
			stop := context.AfterFunc(cmd.Context(), func() { _ = s.Close() }) // its clients have disconnected by then
			defer stop()
			if err := s.ListenAndServe(); cmd.Context().Err() == nil {
				return fmt.Errorf("echo: %w", err)
			}
			return nil
		},
	}
}

// benchFloor runs the floor in its own process, like the server.
func benchFloor() *cobra.Command {
	return &cobra.Command{
		Use: "floor", Short: "Serve the bare order program that bench compares with", Hidden: true, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(300) // as the server does, so that neither has an advantage
			}
			return bench.ServeFloor(cmd.Context(), os.Getenv("COMANDA_LISTEN"), os.Getenv("COMANDA_DATABASE_URL"))
		},
	}
}

// benchGround is the temporary environment of one benchmark: a folder, a database, a namespace.
type benchGround struct {
	config    app.Config
	dir       string
	database  string
	namespace string
	site      bench.Site
	token     string // service token of other systems
	drop      func()
	output    *os.File
}

// newBenchGround creates the environment. After an error nothing of it remains.
func newBenchGround(ctx context.Context, c app.Config) (*benchGround, error) {
	dir, err := os.MkdirTemp("", "comanda-bench-")
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	name := "comanda_bench_" + hex.EncodeToString(id[:])
	g := &benchGround{config: c, dir: dir, drop: func() {}, database: "sqlite:" + filepath.Join(dir, "bench.db")}
	g.site = bench.Site{TmnCode: "BENCH001", HashSecret: rand.Text()}
	g.token = rand.Text() + rand.Text()
	if c.RedisURL != "" {
		g.namespace = "bench" + hex.EncodeToString(id[:])
	}
	if g.output, err = os.Create(filepath.Join(dir, "server.log")); err != nil {
		g.remove()
		return nil, fmt.Errorf("bench: %w", err)
	}
	if !strings.HasPrefix(c.DatabaseURL, "postgres") {
		return g, nil
	}
	if err := g.createDatabase(ctx, name); err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// createDatabase creates a database on the configured server.
func (g *benchGround) createDatabase(ctx context.Context, name string) error {
	beside, drop, err := sqldb.CreateBeside(ctx, g.config.DatabaseURL, name)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	g.database = beside
	// The database is dropped even if an interrupt has ended the run's context.
	g.drop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := drop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "comanda:", err)
		}
	}
	return nil
}

// seed migrates the new database and loads the benchmark's restaurant. It returns the QR tokens of its tables, and
// those of the branch with options.
func (g *benchGround) seed(ctx context.Context) (tokens, withOptions []string, err error) {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: g.database})
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		return nil, nil, err
	}
	if tokens, err = bench.Seed(ctx, db, true); err != nil {
		return nil, nil, err
	}
	withOptions, err = bench.SeedOptions(ctx, db)
	return tokens, withOptions, err
}

// benchMembers is the number of members with carts: ordering all of them must take longer than the background loops
// need to process an order. Each costs two password hashes before the run.
const benchMembers = 1536

// members creates the accounts of members.
func (g *benchGround) members(ctx context.Context) ([]bench.Login, error) {
	c := g.config
	c.DatabaseURL = g.database
	logins, accounts := make([]bench.Login, benchMembers), make([]app.NewAccount, benchMembers)
	for i := range logins {
		logins[i] = bench.Login{Email: fmt.Sprintf("member%d@bench.example", i), Password: rand.Text()}
		accounts[i] = app.NewAccount{Role: "user", Email: logins[i].Email, Password: logins[i].Password}
	}
	_, err := app.CreateUsers(ctx, c, accounts)
	return logins, err
}

// unreachable is an address without a server, so that no real gateway is queried about payments of a benchmark.
const unreachable = "http://127.0.0.1:1/"

// env returns the server's environment: the configured stores, no rate limits, and access logs as in production.
func (g *benchGround) env() []string {
	return []string{
		"COMANDA_DATABASE_URL=" + g.database, "COMANDA_REDIS_URL=" + g.config.RedisURL,
		"COMANDA_REDIS_NAMESPACE=" + g.namespace, "COMANDA_AMQP_URL=" + string(g.config.AMQPURL),
		"COMANDA_AMQP_PREFIX=" + g.config.AMQPPrefix, "COMANDA_DATA_DIR=" + g.dir, "COMANDA_LIMITS=off",
		"COMANDA_SANDBOX_PAYMENTS=on", "COMANDA_SERVICE_TOKEN=" + g.token,
		"COMANDA_VNPAY_TMN_CODE=" + g.site.TmnCode, "COMANDA_VNPAY_HASH_SECRET=" + g.site.HashSecret,
		"COMANDA_VNPAY_PAY_URL=" + unreachable, "COMANDA_VNPAY_API_URL=" + unreachable,
		"COMANDA_DEBUG_LISTEN=" + g.config.DebugListen,
	}
}

func (g *benchGround) log() *os.File { return g.output }

// remove drops the database and deletes the folder. Call it after the children have stopped.
func (g *benchGround) remove() {
	if g.output != nil {
		_ = g.output.Close() // deleted with the folder
	}
	g.drop()
	_ = os.RemoveAll(g.dir) // a temporary folder
}

// child is this program running as a separate process.
type child struct {
	cmd   *exec.Cmd
	base  string
	start time.Duration // until it was ready
}

// startChild runs this program with a command and waits until it is ready.
func startChild(ctx context.Context, env []string, log *os.File, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	listen, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...) //nolint:noctx,gosec // this program, ended by stop
	c := &child{cmd: cmd, base: "http://" + listen}
	// The operator's settings must not reach the child: it would use the real stores.
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "COMANDA_") {
			c.cmd.Env = append(c.cmd.Env, kv)
		}
	}
	c.cmd.Env = append(append(c.cmd.Env, env...), "COMANDA_LISTEN="+listen)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	begun := clock.Start()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	if err := c.await(ctx); err != nil {
		c.stop()
		return nil, err
	}
	c.start = begun.Elapsed()
	return c, nil
}

// freeAddress returns a free local address. Another process could take it before the child listens; the start then
// fails.
func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("bench: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// await polls until the process is ready. The echo and the floor have no such check, and are ready when they respond.
func (c *child) await(ctx context.Context) error {
	// A child that does not respond by then has failed; its log is in the folder.
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client := http.Client{Timeout: time.Second}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/readyz", nil)
		if err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		if answer, err := client.Do(request); err == nil {
			_ = answer.Body.Close() // the status is all that counts
			if answer.StatusCode < http.StatusInternalServerError {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("bench: %s does not respond: %w", c.cmd.Args[1], ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the process; further calls do nothing. It waits for the end, so that its files and database can be removed.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have exited already
	_ = c.cmd.Wait()
}
