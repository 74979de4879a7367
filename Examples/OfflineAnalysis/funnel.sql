-- After which step are logins given up or lost?
WITH steps(position, step, reached) AS (
    SELECT 0, 'begun', count(*) FROM transactions
    UNION ALL SELECT 1, 'initiated', count(*) FILTER (WHERE array_contains(events, 'initiated')) FROM transactions
    UNION ALL SELECT 2, 'requestSent', count(*) FILTER (WHERE array_contains(events, 'requestSent')) FROM transactions
    UNION ALL SELECT 3, 'responseReceived', count(*) FILTER (WHERE array_contains(events, 'responseReceived')) FROM transactions
    UNION ALL SELECT 4, 'succeeded', count(*) FILTER (WHERE outcome = 'succeeded') FROM transactions
)
SELECT step, reached, lag(reached) OVER (ORDER BY position) - reached AS lost_before,
    round(100e0 * reached / first_value(reached) OVER (ORDER BY position), 1) AS percent_of_all
FROM steps
ORDER BY position;
