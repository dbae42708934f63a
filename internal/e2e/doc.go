// Package e2e drives the built command from outside: over HTTP, on the command line, through Redis, through the broker
// and with signals, as guests, operators and accidents do. It builds the binary once and knows none of its insides
// except the address of the database, where a test looks for what must not have changed or spoils what must be noticed.
//
// Every test runs on the installations that its promise is about:
//
//	embedded  one process with SQLite, the Redis store and the events inside
//	servers   one process on a database in PostgreSQL, a redis-server and queues in RabbitMQ of its own
//	pair      two processes on the same servers; requests go to them in turn
//	cluster   like servers, with a Redis Cluster of three nodes
//
// What is shown, by the invariants of docs/ARCHITECTURE.md:
//
//	TestStory          what is paid is used, what is cancelled or expires can be bought again (I1, I3, I10)
//	TestCounter        staff take money and cancel; nobody else does
//	TestLatePayment    money after the deadline becomes an order or a visible refund (I6)
//	TestSandbox        nobody can play a gateway where the sandbox is not enabled
//	TestStorm          500 guests and 50 units give 50 orders, whatever fails meanwhile (I2, I5, I9, I16)
//	TestFaults         connections are ended, a process is frozen, Redis evicts: nothing that was answered is lost (I5, I9)
//	TestRebuild        orders go on while the gate of a branch with very many holds is rebuilt (I9)
//	TestClock          a clock that is set ends nothing too early and nothing too late (I10)
//	TestPrevious       the previous release runs on the schema of this one
//	TestCluster        a Cluster whose node dies, hangs, is emptied or replaced costs speed and not orders (I9, I16)
//	TestKeys           what an installation writes to Redis is what is declared, and whatever is not is found
//	TestRedisFault     without Redis, or with one that hangs, people are served, no limit opens and no logout is undone
//	TestLimits         people are not in each other's way, and machines are held up
//	TestRepetition     a request that comes a hundred times at once has one effect and one answer (I11)
//	TestBadInput       what is refused has a code and changes nothing; what is accepted comes back as it was sent
//	TestBrokerOutage   without the broker orders go on; afterwards every event arrives, and counts once (I7, I15, I16)
//	TestInventory      reservations come out exact whatever fails, restarts of the broker included (I1, I2, I7, I8)
//	TestCrash          what was answered with success is there after kill -9, identical (I5)
//	TestCheckout       a member's cart becomes an order, both or neither, whatever fails meanwhile (C4, I5, I11)
//	TestCommands       what the commands promise to scripts: output, exit codes
//	TestSecrets        no secret is ever logged, counted, answered, exported, or kept in Redis or, but for tables' codes, SQL
//	TestMember         who registers, proves it, logs in and out; what is ended is refused everywhere within 5 s
//	TestHouse          who works here, what they may do, and how the first owner gets in
//	TestGuess          guesses at codes and passwords are few however they come, and logins leave others alone
//	TestLetters        what was promised by mail is sent, whoever dies
//
// The business days of the demo's branches change at 21:00 UTC; a run across that instant may fail, because commands
// show the new day then.
package e2e
