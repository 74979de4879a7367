-- How long do logins that succeed take, in each variant?
SELECT variant, count(*) AS succeeded,
    round(quantile_cont(duration_us, 0.5) / 1000, 1) AS p50_ms,
    round(quantile_cont(duration_us, 0.95) / 1000, 1) AS p95_ms
FROM transactions
WHERE outcome = 'succeeded'
GROUP BY variant
ORDER BY variant;
